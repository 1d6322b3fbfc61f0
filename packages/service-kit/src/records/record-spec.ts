import type { IncomingMessage } from 'node:http';
import type { Sql, TransactionSql } from 'postgres';
import type { z } from 'zod';
import type { Guard } from '../http/route.ts';
import type { Repeatable } from './idempotency.ts';

/** A connection of the pool, or the transaction of the request. */
export type Queries = Sql | TransactionSql;

/** A record as JSON text, and its id. */
export interface Stored {
  id: string;
  json: string;
}

/** The record or the list that a request names, and who asks. Someone else's record is undefined. */
export interface Target<Params extends z.ZodObject, Caller> {
  params: z.output<Params>;
  caller: Caller;
  query?: object | undefined;
}

/** One operation of a batch. What it writes of a record is in the field with the name of the record. */
export type Operation = { [record: string]: unknown } & (
  | { op: 'create' }
  | { op: 'patch' | 'delete'; id: string; ifMatch?: readonly string[] | undefined }
);

/**
 * What a service says and does of one kind of record; the rest is the same for all (`record`). Where a record is created,
 * changed or deleted in another way, the service leaves that part out and declares a route.
 */
export interface RecordSpec<
  Params extends z.ZodObject,
  Parents extends z.ZodObject,
  Query extends z.ZodObject,
  Input extends z.ZodType,
  Patch extends z.ZodType,
  Removal extends z.ZodObject,
  Reader,
  Writer extends Reader & { subject: string },
> {
  /**
   * Path of the list, such as `/projects/{id}/deliverables`. The last parameter of `params` completes that of a record;
   * without parameters it is the path of the one record that a caller has.
   */
  path: string;
  /** The base path of the service. */
  basePath: string;
  params: Params;
  /** The parameters of the list's path, where it has some. */
  parents?: Parents;
  tag: string;
  /** One record in words, such as `inventory item`, from which the ids of the operations are made. */
  name: string;
  /** A field `version`, where it has one, is the ETag; else a hash of the record. */
  schema: z.ZodObject;
  /** Fields that no caller can change, such as a balance: If-Match does not compare them. */
  computed?: readonly string[];
  read: Guard<Reader>;
  /** Idempotency keys belong to the subject. */
  write: Guard<Writer>;
  sql: Sql;

  /** Left out where the service declares the list by itself. */
  list?: {
    summary: string;
    description?: string;
    query?: Query;
    anyCaseQuery?: boolean;
    body: z.ZodType;
    /** `confirmsCaller` of the route. */
    confirmsReader?: boolean;
    /** `fast` of the route. */
    fast?: boolean;
    /** The body as JSON text. */
    page(query: z.output<NoInfer<Query>>, target: Target<NoInfer<Parents>, Reader>): Promise<string>;
  };
  /** Title of the operation that reads one record, such as "One task", which is the default. */
  summary?: string;
  /** Query parameters of that operation, which `find` gets. */
  narrowing?: z.ZodObject;
  /** The record as JSON text. `lock` locks its row until the transaction ends. */
  find(
    sql: Queries,
    target: Target<NoInfer<Params>, Reader> & { req: IncomingMessage },
    lock: boolean,
  ): Promise<string | undefined>;
  /** Whether a record that is read has a secret, which no client may keep. */
  isSecret?: true;
  /** Runs after a change or a deletion is committed, and before it is answered. */
  committed?(target: Target<NoInfer<Params>, Writer>): Promise<void>;
  create?: {
    input: Input;
    example: z.input<NoInfer<Input>>;
    /** For the document: when a record cannot be created (409), because another one has its natural key. */
    conflict?: string;
    /** `keep` of the answers to new records and batches. */
    keep?: Repeatable['keep'];
    insert(
      sql: Queries,
      input: z.output<NoInfer<Input>>,
      target: Target<NoInfer<Parents>, Writer>,
    ): Promise<Stored>;
  };
  change?: {
    patch: Patch;
    example: z.input<NoInfer<Patch>>;
    /** Fields of the patch that say why or how to change the record, and that it does not have. */
    remarks?: readonly string[];
    /** For the document: when a record cannot be changed (409). Undefined where it always can. */
    conflict?: string;
    /** For the document: when a patch does not fit the record (422). Undefined where it always does. */
    unprocessable?: string;
    /** Saves a patch that changes the record, which was found as `current` and locked. Returns the record as JSON text. */
    save(
      sql: TransactionSql,
      patch: z.output<NoInfer<Patch>>,
      target: Target<NoInfer<Params>, Writer> & { req: IncomingMessage },
      current: string,
    ): Promise<string>;
  };
  remove?: {
    /** For the document: when a record cannot be deleted (409). Undefined where it always can. */
    conflict?: string;
    query?: Removal;
    /** Deletes the record, which was found and locked. Throws a Problem where it must stay. */
    delete(
      sql: TransactionSql,
      target: Target<NoInfer<Params>, Writer> & { query: z.output<NoInfer<Removal>> },
    ): Promise<void>;
  };
  /** Many creations, changes and deletions in one request. */
  batch?: {
    /**
     * Locks what the operations will lock, in an order that is the same for every batch, so that no two wait for each other.
     * May lock less than `find` does where no other order is possible.
     */
    lock(tx: TransactionSql, operations: readonly Operation[], caller: Writer): Promise<void>;
  };
}
