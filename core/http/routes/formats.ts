import { isIP, isIPv4, isIPv6 } from 'node:net';

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** The string formats that a route's schema may name. */
export const formats: Readonly<Record<string, true | RegExp | ((text: string) => boolean)>> = {
  'date-time': (text) => instant.test(text) && !Number.isNaN(Date.parse(text)),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i,
  email: /^[^\s@]{1,64}@[^\s@.]{1,63}(\.[^\s@.]{1,63})+$/,
  uri: (text) => /^[a-z][a-z0-9+.-]*:/i.test(text) && URL.canParse(text),
  ip: (text) => isIP(text) !== 0,
  ipv4: isIPv4,
  ipv6: isIPv6,
  /** `30s`, `5m`, `1h30m`, `7d`. */
  duration: /^(?=\d)(\d+w)?(\d+d)?(\d+h)?(\d+m)?(\d+s)?(\d+ms)?$/,
  /** Kept as it is; only a hint for forms. */
  password: true,
  binary: true,
};
