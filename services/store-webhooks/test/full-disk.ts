import { StatementSync } from 'node:sqlite';

/** Loaded before the service (`node --import`): writing to a spool file fails as SQLite fails on a full disk. */
StatementSync.prototype.run = () => {
  throw Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 });
};
