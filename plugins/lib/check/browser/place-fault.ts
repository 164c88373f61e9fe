/** Failure of the place that probes, which says nothing about the target. */
export class PlaceFault extends Error {}
