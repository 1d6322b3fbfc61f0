import { offlineParts, offlineVariables, syncDocument } from '@platform/service-kit/openapi-file';
import { exportJWK, generateKeyPair } from 'jose';
import { createApp } from './app.ts';
import { createContext } from './context.ts';
import { envOf } from './env.ts';

const { privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
const key = JSON.stringify(await exportJWK(privateKey));
const env = envOf({ ...offlineVariables, AUTH_SIGNING_KEY: key });
const { document } = createApp(await createContext(env, offlineParts()));
await syncDocument(document, new URL('../openapi.json', import.meta.url), process.argv.includes('--write'));
