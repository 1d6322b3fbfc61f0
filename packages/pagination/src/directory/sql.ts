import type { Directory } from './declare.ts';
import { drift } from './sql/drift.ts';
import { fold } from './sql/fold.ts';
import { namesOf } from './sql/names.ts';
import { page } from './sql/page.ts';
import { rebuild } from './sql/rebuild.ts';
import { record } from './sql/record.ts';
import { shelve } from './sql/shelve.ts';
import { split } from './sql/split.ts';
import { stamp } from './sql/stamp.ts';
import { tables } from './sql/tables.ts';
import { thin } from './sql/thin.ts';

const migrationOf = (statements: string[]): string => statements.join('\n--> statement-breakpoint\n') + '\n';

/**
 * The whole directory as the text of a migration. It replaces one that is there, and counts the rows
 * that are there: other writers of the table wait until it is done.
 */
export const directorySql = (directory: Directory): string =>
  migrationOf([
    ...tables(directory),
    ...shelve(directory),
    ...split(directory),
    ...fold(directory),
    ...thin(directory),
    ...rebuild(directory),
    ...drift(directory),
    ...page(directory),
    ...stamp(directory),
    ...record(directory),
    `select ${namesOf(directory).routine('rebuild')}();`,
  ]);

/** Only what pages are read by, for a directory that is there. Nothing is counted, nobody waits. */
export const directoryPagesSql = (directory: Directory): string => migrationOf(page(directory));
