export { errors as outboundErrors } from './errors.ts';
export { Outbound, type Resolve } from './outbound.ts';
export { parseAllowed, type Reach } from './reach.ts';
