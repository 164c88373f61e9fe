import { readdirSync } from 'node:fs';

import { draftSuffix } from './block-file.ts';
import { aboutSuffix } from './description.ts';

/** Names of the files in a folder of blocks, those of drafts and descriptions too. */
export const filesIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [entry.name] : [],
  );

export const isBlock = (name: string): boolean =>
  !name.endsWith(draftSuffix) && !name.endsWith(aboutSuffix);

/** Names of the blocks in a folder. */
export const blockFilesIn = (folder: string): string[] => filesIn(folder).filter(isBlock).sort();
