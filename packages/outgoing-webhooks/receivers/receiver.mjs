import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.SECRET);

createServer(async (req, res) => {
  try {
    const event = webhook.verify(await text(req), req.headers);
    res.writeHead(204).end();
    console.log(event.type, event.data.id);
  } catch {
    res.writeHead(401).end();
  }
}).listen(Number(process.env.PORT), '127.0.0.1');
