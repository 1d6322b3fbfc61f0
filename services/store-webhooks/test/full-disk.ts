import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

/** Loaded before the service (`node --import`): writing to a spool file fails as on a full disk, with ENOSPC. */
const { open } = fs;
fs.open = async (path, flags, mode) => {
  const handle = await open(path, flags, mode);
  if (!String(path).endsWith('.spool')) return handle;
  await handle.close();
  return open('/dev/full', 'r+');
};
syncBuiltinESMExports();
