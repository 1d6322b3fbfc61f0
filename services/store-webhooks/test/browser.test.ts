import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium } from 'playwright-core';
import { expect, inject, test } from 'vitest';
import { startStandIn } from './simulate/stand-in.ts';
import { startService } from './harness.ts';

const executablePath = inject('chromiumPath');

const serve = async (listener: RequestListener) => {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

/** The page of the bank after a challenge: it posts the result through the browser (EMV 3DS). */
const bankPage = (action: string, cres: string, session: string) => `<!doctype html>
  <form method="post" action="${action}">
    <input type="hidden" name="cres" value="${cres}">
    <input type="hidden" name="threeDSSessionData" value="${session}">
  </form>
  <script>document.forms[0].submit()</script>`;

test.runIf(executablePath !== null)(
  'a browser that posts the form of the bank is redirected to the page of the shop with GET, also after a reload',
  async () => {
    await using standIn = await startStandIn();
    await using service = await startService({ work: false });
    const visits: { method: string; path: string; referer: string | undefined }[] = [];
    await using shop = await serve((req, res) => {
      if (req.url !== '/favicon.ico')
        visits.push({ method: req.method ?? '', path: req.url ?? '', referer: req.headers.referer });
      res.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Thank you</h1>');
    });
    const store = await service.store({
      storeUrl: shop.url,
      payments: { kind: 'threedsecureio', baseUrl: standIn.url, credentials: { apiKey: 'k' } },
    });
    const cavv = 'AJkB+/ZYgQ==';
    const cres = Buffer.from(JSON.stringify({ threeDSServerTransID: 'tds-9', transStatus: 'Y' })).toString(
      'base64url',
    );
    standIn.results.set('tds-9', { transStatus: 'Y', authenticationValue: cavv, eci: '05' });
    const payment = { service: 'threedsecureio', transactionId: 'session-9', orderId: 'o-9' };
    expect((await service.admin('POST', `/v1/stores/${store.id}/payments`, payment)).status).toBe(201);
    const action = `${service.url}/api/v1/hooks/payment-auth-completed/threedsecureio/${store.webhookToken}`;
    await using bank = await serve((_req, res) => {
      res.writeHead(200, { 'content-type': 'text/html' });
      res.end(bankPage(action, cres, Buffer.from('session-9').toString('base64url')));
    });

    const browser = await chromium.launch({ executablePath: executablePath ?? '', args: ['--no-sandbox'] });
    try {
      const page = await browser.newPage();
      await page.goto(bank.url);
      await page.waitForURL(`${shop.url}/**`);
      const { pathname, searchParams } = new URL(page.url());
      expect([pathname, Object.fromEntries(searchParams)]).toEqual([
        '/checkout/payment-verification/success',
        { cavv, eci: '05' },
      ]);
      expect(await page.textContent('h1')).toBe('Thank you');
      standIn.results.clear();
      await page.goto(bank.url);
      await page.waitForURL(`${shop.url}/**`);
      expect(new URL(page.url()).searchParams.get('cavv')).toBe(cavv);
      expect(visits.map(({ method }) => method)).toEqual(['GET', 'GET']);
      for (const { referer } of visits) expect(referer ?? '').not.toContain(store.webhookToken);
    } finally {
      await browser.close();
    }
  },
);
