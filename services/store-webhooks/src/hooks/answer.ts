export interface HookAnswer {
  status: number;
  headers?: Record<string, string>;
  json?: string;
}

/** The answer to nearly every webhook. */
export const accepted: HookAnswer = { status: 200, json: '{}' };
