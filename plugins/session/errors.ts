import { errors as sessions } from './sessions/errors.ts';
import { errors as signIn } from './sign-in/errors.ts';
import { errors as store } from './store/errors.ts';
import { errors as tokens } from './tokens/errors.ts';

/** Errors of sessions, each folder with its own. */
export const errors = [sessions, signIn, store, tokens];
