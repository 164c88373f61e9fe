import { errors as lines } from './lines/errors.ts';

/** Errors of reading logs, each folder with its own. */
export const errors = [lines];
