import { readdirSync } from 'node:fs';

import { isBlock } from './block-name.ts';

/** Names of the files in a folder of blocks, those of drafts and descriptions too. */
export const filesIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [entry.name] : [],
  );

/** Names of the blocks in a folder. */
export const blockFilesIn = (folder: string): string[] => filesIn(folder).filter(isBlock).sort();
