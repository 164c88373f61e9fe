import { errors as accounts } from './accounts/errors.ts';
import { errors as passwords } from './passwords/errors.ts';

/** Errors of accounts, each folder with its own. */
export const errors = [accounts, passwords];
