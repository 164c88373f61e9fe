import type { Area } from '../area.ts';

/** It loads the packs of others, and serves no routes of its own. */
export const area: Area = { routes: '' };
