import { expect, test } from 'vitest';
import { readArguments } from './arguments.ts';

test('a service may have several instances', () => {
  const asked = readArguments([
    '--out',
    '/etc/nginx',
    '--upstream',
    'consignments=a:1',
    '--upstream',
    'consignments=b:2',
  ]);
  expect(asked).toEqual({
    out: '/etc/nginx',
    options: {
      listen: ['*:8080'],
      upstreams: { consignments: ['a:1', 'b:2'] },
      runDir: '/tmp/nginx',
      trustedProxies: [],
      corsOrigins: [],
      workers: 'auto',
    },
  });
});

test('every option is read', () => {
  const asked = readArguments(
    [
      '--out /o --listen 1.2.3.4:80 --tls-listen [::]:443 --tls-certificate /c --tls-key /k --redirect-to https://a.test --run-dir /r --log-dir /l --request-log failures --docs-dir /d --resolver 1.1.1.1 --trusted-proxy ::1 --cors-origin https://a.test --secret-file /s --rate-limit 5:10 --connections 9 --telemetry s:1 --workers 4 --user web',
    ].flatMap((line) => line.split(' ')),
  );
  expect(asked?.options).toEqual({
    listen: ['1.2.3.4:80'],
    upstreams: {},
    tls: { listen: ['[::]:443'], certificate: '/c', key: '/k', redirectTo: 'https://a.test' },
    runDir: '/r',
    logDir: '/l',
    requestLog: 'failures',
    docsDir: '/d',
    resolver: '1.1.1.1',
    trustedProxies: ['::1'],
    corsOrigins: ['https://a.test'],
    secretFile: '/s',
    rateLimit: { perSecond: 5, burst: 10 },
    connectionsPerClient: 9,
    telemetry: 's:1',
    workers: 4,
    user: 'web',
  });
});

test('--help asks for nothing', () => {
  expect(readArguments(['--help'])).toBeUndefined();
});

test.each([
  ['--out is missing', []],
  ['--upstream x=y:1', ['--out', '/o', '--upstream', 'x=y:1']],
  ['--upstream consignments', ['--out', '/o', '--upstream', 'consignments']],
  ['TLS needs', ['--out', '/o', '--tls-key', '/k']],
  ['--rate-limit', ['--out', '/o', '--rate-limit', '5']],
  ['--nonsense', ['--out', '/o', '--nonsense']],
])('%s is refused', (message, args) => {
  expect(() => readArguments(args)).toThrow(message);
});

test('a deployment cannot be told to hand out the credentials of a demo', () => {
  expect(() => readArguments(['--out', '/o', '--demo-server', 'a:1'])).toThrow(
    "Unknown option '--demo-server'",
  );
});
