import { runMigrations } from '@platform/service-kit/migrate';
import { migrations } from './context.ts';

await runMigrations('quest-service', migrations);
