import { errors as handshake } from './handshake/errors.ts';
import { errors as identity } from './identity/errors.ts';
import { errors as link } from './link/errors.ts';
import { errors as session } from './session/errors.ts';

/** Errors of the tunnel, each folder with its own. */
export const errors = [handshake, identity, link, session];
