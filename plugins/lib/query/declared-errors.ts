import { errors } from './errors.ts';
import { errors as regex } from './regex/errors.ts';
import { errors as remote } from './remote/errors.ts';
import { errors as run } from './run/errors.ts';

/** Errors of queries, each folder with its own; declared by the plugins that answer them. */
export const queryErrors = [errors, regex, remote, run];
