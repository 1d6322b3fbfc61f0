import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

/** Makes writes to spool files fail with ENOSPC, like a full disk. Load it before the service: `node --import`. */
const { open } = fs;
fs.open = async (path, flags, mode) => {
  const handle = await open(path, flags, mode);
  if (!String(path).endsWith('.spool')) return handle;
  await handle.close();
  return open('/dev/full', 'r+');
};
syncBuiltinESMExports();
