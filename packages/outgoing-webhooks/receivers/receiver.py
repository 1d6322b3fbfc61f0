import base64, hashlib, hmac, json, os, time
from http.server import BaseHTTPRequestHandler, HTTPServer

KEY = base64.b64decode(os.environ["SECRET"].removeprefix("whsec_"))

if not KEY:
    raise SystemExit("Set SECRET.")

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        id, at, signatures = (self.headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
        digest = hmac.new(KEY, f"{id}.{at}.".encode() + body, hashlib.sha256).digest()
        expected = f"v1,{base64.b64encode(digest).decode()}".encode()
        is_signed = any(hmac.compare_digest(expected, value.encode()) for value in signatures.split())
        is_new = at.isdecimal() and abs(time.time() - int(at)) < 300
        self.send_response(204 if is_signed and is_new else 401)
        self.end_headers()
        if is_signed and is_new:
            print(json.loads(body)["type"], flush=True)

HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver).serve_forever()
