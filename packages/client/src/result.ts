/** Result of a call of a client. */
export interface ApiResult<Data> {
  data?: Data | undefined;
  error?: unknown;
  response: Response;
}

/** A service answered with a status other than 2xx. */
export class ApiError extends Error {
  /** The HTTP status. */
  readonly status: number;
  /** The `code` of the problem document (RFC 9457), if the body is one. */
  readonly code: string | undefined;
  /** The parsed body. */
  readonly body: unknown;

  constructor({ status, url }: Response, body: unknown) {
    const { code, detail } = (body ?? {}) as { code?: string; detail?: string };
    // Only the host: the path can contain a webhook token, the query personal data.
    super(`${status} ${code ?? ''} from ${new URL(url).host}: ${detail ?? 'no detail'}`);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.body = body;
  }
}

/**
 * Returns the data of a call, for callers that treat every failure as an exception.
 * @throws ApiError for a status other than 2xx; the error of `fetch` when there was no response
 */
export const unwrap = async <Data>(call: Promise<ApiResult<Data>>): Promise<Data> => {
  const { data, error, response } = await call;
  if (!response.ok) throw new ApiError(response, error);
  return data as Data;
};
