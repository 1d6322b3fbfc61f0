/** What a call of a client resolves to. */
export interface Answer<Data> {
  data?: Data | undefined;
  error?: unknown;
  response: Response;
}

/** A service answered with something else than success. */
export class Refused extends Error {
  /** The HTTP status. */
  readonly status: number;
  /** Stable name of the problem (RFC 9457 bodies of the platform), where there is one. */
  readonly code: string | undefined;
  /** The body as it came. */
  readonly body: unknown;

  constructor({ status, url }: Response, body: unknown) {
    const { code, detail } = (body ?? {}) as { code?: string; detail?: string };
    // Without the query and what follows a webhook's address: both may hold what belongs in no log.
    super(`${status} ${code ?? ''} from ${new URL(url).host}: ${detail ?? 'no detail'}`);
    this.name = 'Refused';
    this.status = status;
    this.code = code;
    this.body = body;
  }
}

/**
 * The data of a call that has to succeed.
 * @throws Refused where it did not; what `fetch` throws where there was no answer
 */
export const must = async <Data>(call: Promise<Answer<Data>>): Promise<Data> => {
  const { data, error, response } = await call;
  if (!response.ok) throw new Refused(response, error);
  return data as Data;
};
