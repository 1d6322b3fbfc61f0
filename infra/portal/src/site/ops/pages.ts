import type { Session } from './session.ts';

/** The answer of a list of a management API: a page, and the array of its records. */
export interface ListAnswer {
  page: { number: number; has_more: boolean };
}

/** The records of a list, which has no other array. */
export const rowsOf = <Row>(answer: ListAnswer): Row[] => {
  const rows = (Object.values(answer) as unknown[]).find((value): value is Row[] => Array.isArray(value));
  if (rows === undefined) throw new Error('the answer has no list');
  return rows;
};

/** Reads all pages of a list. */
export const readAll = async <Row>(
  session: Session,
  path: string,
  filters: Readonly<Record<string, string>>,
): Promise<Row[]> => {
  const rows: Row[] = [];
  for (let page = 1, more = true; more; page++) {
    const query = new URLSearchParams({ ...filters, page: String(page), limit: '200' });
    const answer = await session.ask<ListAnswer>(`${path}?${query}`);
    rows.push(...rowsOf<Row>(answer));
    more = answer.page.has_more;
  }
  return rows;
};
