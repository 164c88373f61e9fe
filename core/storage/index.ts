export { createBackup, databaseName, type Manifest, readManifest, verifyBackup } from './backup.ts';
export type { CoreTables, IdempotencyRow, MigrationRow, OutboxRow } from './core-tables.ts';
export type { DiskLimits } from './disk-guard.ts';
export type { GroupLimits } from './groups.ts';
export { acquireLock, type DataLock } from './lock.ts';
export { loadMigrations, type Migration } from './migration-text.ts';
export { restoreBackup, type Restored } from './restore.ts';
export { onlyDeclared } from './sealed-columns.ts';
export { openStorage, type Storage, type StorageOptions, type WorkerEntry } from './storage.ts';
