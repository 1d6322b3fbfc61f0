import { runMigrations } from '@platform/service-kit/migrate';
import { migrations } from './context.ts';
import { migrationUrl } from './env.ts';

await runMigrations(migrationUrl, migrations);
