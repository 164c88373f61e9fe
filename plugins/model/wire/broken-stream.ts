/** Error for something other than the expected event in a provider's stream. */
export class BrokenStream extends Error {}
