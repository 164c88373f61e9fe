import type { Area } from '../area.ts';

/** Area of a plugin that serves other plugins, without routes. */
export const area: Area = { routes: '' };
