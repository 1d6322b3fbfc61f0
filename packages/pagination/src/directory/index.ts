export {
  defineDirectory,
  installSql,
  uninstallSql,
  type Directory,
  type DirectoryOptions,
} from './directory.ts';
export { countPendingChanges, fold, measureDrift, mergeBuckets, rebuild } from './maintain.ts';
export {
  pageSettings,
  readPage,
  readSlice,
  withPageSettings,
  type FilterValue,
  type PageRequest,
  type TotalledPage,
} from './read.ts';
