export * from './audit-hook.ts';
export * from './client-address.ts';
export * from './operator.ts';
export * from './policy.ts';
export * from './principals.ts';
export * from './redact.ts';
export { errors as addressErrors } from './errors.ts';
