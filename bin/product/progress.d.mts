export function progress(what: string, beat?: () => string | void): { end(outcome: string): void };
