/** Replaces what only its author may see. */
const mask = '••••';
/** Names of parameters whose value opens something. */
const secretName =
  /(?:^|[_.-])(?:key|sig)$|token|secret|passw|pwd|auth|credential|signature|apikey|api[_-]?key|accesskey|session|jwt/i;

/** Returns a target as readers see it: values of parameters that look like secrets are masked. */
export const maskedTarget = (target: string): string =>
  target.replaceAll(/([?&;#])([^=&;#]*)=([^&;#]*)/g, (whole, mark: string, name: string) =>
    secretName.test(name) ? `${mark}${name}=${mask}` : whole,
  );
