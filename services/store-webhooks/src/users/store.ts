import type { Sql } from 'postgres';

export const userExists = async (sql: Sql, storeId: string, consumerUserId: string): Promise<boolean> => {
  const [row] = await sql`
    select 1 from users where store_id = ${storeId} and consumer_user_id = ${consumerUserId}`;
  return row !== undefined;
};
