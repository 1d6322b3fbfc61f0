/** The first row of a statement; undefined when there is none, unless its type says that there is always one. */
export const firstRow = async <Rows extends readonly unknown[]>(
  statement: PromiseLike<Rows>,
): Promise<Rows extends readonly [infer Row] ? Row : Rows[number] | undefined> =>
  (await statement)[0] as Rows extends readonly [infer Row] ? Row : Rows[number] | undefined;
