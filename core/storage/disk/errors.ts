import { defineErrors } from '../../sdk/index.ts';

export const errors = defineErrors('storage', {
  file_damaged: [
    'unavailable',
    '{file} is damaged ({problems}): restore a backup with "svc backup restore", which keeps the damaged file aside.',
  ],
  file_changed: [
    'unavailable',
    '{file} has changed since svc stopped ({where}). If the disk has damaged it, restore a backup with "svc backup restore", which keeps the damaged file aside. If a program of yours changed it, delete {mark}, and svc starts with the file as it is.',
  ],
  folder_unlockable: ['unavailable', 'The data folder {folder} cannot be locked: {cause}'],
  folder_in_use: [
    'conflict',
    'The data folder {folder} is in use by {holder}: stop that process first, or set SVC_DATA_DIR to another folder.',
  ],
  folder_remote: [
    'conflict',
    'The data folder {folder} is on {network}, where file locks and syncs are not reliable: use a local disk for SVC_DATA_DIR.',
  ],
});
