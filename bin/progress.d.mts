export function progress(what: string, beat?: () => void): { end(outcome: string): void };
