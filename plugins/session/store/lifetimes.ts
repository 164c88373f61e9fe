const minute = 60_000;
const day = 24 * 60 * minute;

/** Lifetimes of credentials, in milliseconds. */
export const accessTokenMs = 15 * minute;
/** Idle time after which a session without a refresh is over … */
export const sessionIdleMs = 7 * day;
/** … and after this in any case. */
export const sessionMs = 30 * day;
/**
 * Time in which the client that spent a refresh token may present it again: two tabs, or a lost
 * answer.
 */
export const refreshGraceMs = 10_000;
export const longestApiTokenMs = 366 * day;
/** Time for which an expired API token is still listed. */
export const expiredApiTokenMs = 30 * day;
export const setupTokenMs = day;
export const signingKeyMs = 30 * day;
