const lanes = 500;

/** Jobs of one lane are done in the order of their numbers. */
export const laneOf = (number: number): string => `lane ${number % lanes}`;
