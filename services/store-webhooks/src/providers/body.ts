import { isUtf8 } from 'node:buffer';
import { nestsDeeperThan } from '@platform/service-kit/body';
import { parseExactly } from './exact-json.ts';

export const maxBody = 1_048_576;
const maxDepth = 64;

export const isForm = (contentType: string | undefined): boolean =>
  contentType?.toLowerCase().startsWith('application/x-www-form-urlencoded') ?? false;

/** The content of a body: JSON, or the fields of a form. Undefined if it cannot be parsed. Never throws. */
export const readable = (body: Buffer, contentType: string | undefined): unknown => {
  if (!isUtf8(body)) return undefined;
  if (isForm(contentType)) return fields(body.toString('utf8'));
  if (nestsDeeperThan(maxDepth, body)) return undefined;
  try {
    return parseExactly(body.toString('utf8'));
  } catch {
    return undefined;
  }
};

/** The fields of a form. Some senders wrap their JSON in one field `payload`. */
const fields = (text: string): unknown => {
  // Some senders put JSON into a body that they call a form.
  if (/^\s*[{[]/.test(text)) return readable(Buffer.from(text), undefined);
  const form = Object.fromEntries(new URLSearchParams(text));
  const { payload, ...others } = form;
  return payload !== undefined && Object.keys(others).length === 0
    ? readable(Buffer.from(payload), undefined)
    : form;
};
