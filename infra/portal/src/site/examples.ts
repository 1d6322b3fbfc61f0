import type { DemoCredentials } from './demo.ts';

/** Values for requests that only the demo knows; all other examples are in the OpenAPI documents. */
export interface Examples {
  /** For path parameters, by the segment before the parameter or by its name. */
  ids: Readonly<Record<string, string | undefined>>;
  /** Bodies, by method and path of the OpenAPI document. */
  bodies: Readonly<Record<string, unknown>>;
}

export const demoExamples = ({ email, password, questId, store }: DemoCredentials): Examples => ({
  ids: { quests: questId, stores: store?.id, token: store?.webhookToken },
  bodies: { 'POST /auth/login': { email, password } },
});
