const minute = 60_000;
const day = 24 * 60 * minute;

/** How long each proof of identity is good for, in milliseconds. */
export const accessTokenMs = 15 * minute;
/** Without a refresh a session is over after this … */
export const sessionIdleMs = 7 * day;
/** … and after this in any case. */
export const sessionMs = 30 * day;
/** How long the client that spent a refresh token may show it again: two tabs, or an answer that was lost. */
export const refreshGraceMs = 10_000;
export const longestApiTokenMs = 366 * day;
/** How long an API token that has expired is still listed. */
export const expiredApiTokenMs = 30 * day;
export const setupTokenMs = day;
export const signingKeyMs = 30 * day;
