import type { Area } from '../area.ts';

/** It runs on edges, and serves no routes there. */
export const area: Area = { routes: '' };
