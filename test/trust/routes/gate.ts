import type { Area } from '../area.ts';

/** It answers other rooms, and serves no routes. */
export const area: Area = { routes: '' };
