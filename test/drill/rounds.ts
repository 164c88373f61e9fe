/** As many rounds as there is time for: few of them with all other tests, the rest where `.ci/run` asks for whole drills. */
export const rounds = (few: number, whole: number): number =>
  process.env['SVC_TEST_DRILLS'] === 'whole' ? whole : few;
