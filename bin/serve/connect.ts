import { type ApiClient, clientOf, type Reachable } from 'svc/cli';

import { version } from '../product/product.ts';

/** Connects to a running svc as this version of it. */
export const connect = (svc: Reachable): ApiClient => clientOf(svc, `svc/${version}`);
