import type { IncomingMessage } from 'node:http';
import type { Sql, TransactionSql } from 'postgres';
import type { z } from 'zod';
import type { Guard } from '../http/route.ts';
import type { Repeatable } from './idempotency.ts';

/** Runs SQL: the pool, or the transaction of the request. */
export type Queries = Sql | TransactionSql;

/** A record as JSON text, and its id. */
export interface Stored {
  id: string;
  json: string;
}

/** The record or list that a request addresses, and its caller. Finding another caller's record returns undefined. */
export interface Target<Params extends z.ZodObject, Caller> {
  params: z.output<Params>;
  caller: Caller;
  query?: object | undefined;
}

/** An operation of a batch. The record's new values are in the field with the record's name. */
export type Operation = { [record: string]: unknown } & (
  | { op: 'create' }
  | { op: 'patch' | 'delete'; id: string; ifMatch?: readonly string[] | undefined }
);

/**
 * The declaration of a record, from which `record` creates its operations. If a record is created, changed or deleted in another
 * way, the service leaves that part out and declares a route instead.
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
   * Path of the list, such as `/projects/{id}/deliverables`. A record's path ends with the last parameter of `params`. Without
   * parameters, it is the path of the only record of each caller.
   */
  path: string;
  /** The base path of the service. */
  basePath: string;
  params: Params;
  /** The parameters of the list's path, if it has any. */
  parents?: Parents;
  tag: string;
  /** A record in words, such as `inventory item`. The operation ids are built from it. */
  name: string;
  /** If it has a field `version`, that is the ETag; else a hash of the record. */
  schema: z.ZodObject;
  /** Fields that no caller can change, such as a balance: If-Match does not compare them. */
  computed?: readonly string[];
  read: Guard<Reader>;
  /** Idempotency keys belong to the subject. */
  write: Guard<Writer>;
  sql: Sql;

  /** Absent if the service declares the route of the list itself. */
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
  /** Summary of the operation that reads one record. Default: for example "One task". */
  summary?: string;
  /** Query parameters of that operation; `find` gets them in its target. */
  readQuery?: z.ZodObject;
  /** Finds the record as JSON text. `lock` locks its row until the transaction ends. */
  find(
    sql: Queries,
    target: Target<NoInfer<Params>, Reader> & { req: IncomingMessage },
    lock: boolean,
  ): Promise<string | undefined>;
  /** The record contains a secret, so clients must not store it. */
  isSecret?: true;
  /** Runs after a change or deletion was committed and before the response. */
  committed?(target: Target<NoInfer<Params>, Writer>): Promise<void>;
  create?: {
    input: Input;
    example: z.input<NoInfer<Input>>;
    /** For the document: when a record cannot be created (409), because another one has the same natural key. */
    conflict?: string;
    /** `keep` of `Repeatable`, for new records and batches. */
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
    /** Fields of the patch that are not fields of the record, such as the reason of a change. */
    remarks?: readonly string[];
    /** For the document: when a record cannot be changed (409). Absent if it always can. */
    conflict?: string;
    /** For the document: when a patch does not fit the record (422). Absent if it always does. */
    unprocessable?: string;
    /** Saves a patch of the locked record and returns it as JSON text. `current`: the record before the change. */
    save(
      sql: TransactionSql,
      patch: z.output<NoInfer<Patch>>,
      target: Target<NoInfer<Params>, Writer> & { req: IncomingMessage },
      current: string,
    ): Promise<string>;
  };
  remove?: {
    /** For the document: when a record cannot be deleted (409). Absent if it always can. */
    conflict?: string;
    query?: Removal;
    /** Deletes the locked record. Throws a Problem if it must not be deleted. */
    delete(
      sql: TransactionSql,
      target: Target<NoInfer<Params>, Writer> & { query: z.output<NoInfer<Removal>> },
    ): Promise<void>;
  };
  /** Several creations, changes and deletions in one request. */
  batch?: {
    /**
     * Locks the records of the operations in an order that is the same for every batch, so that two batches cannot deadlock. May
     * lock less than `find` does if no such order is possible.
     */
    lock(tx: TransactionSql, operations: readonly Operation[], caller: Writer): Promise<void>;
  };
}
