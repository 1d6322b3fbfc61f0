/**
 * Plugin of redocly.yaml. It declares `x-itemSchema` of a media type as a schema (`itemSchema` of OpenAPI 3.2), so that
 * its references are checked and count as uses of a component.
 */
interface Types {
  MediaType: { properties: object };
}

// Redocly takes a plugin from the default export.
// oxlint-disable-next-line import/no-default-export
export default () => ({
  id: 'lines',
  typeExtension: {
    oas3: ({ MediaType, ...others }: Types): Types => ({
      ...others,
      MediaType: { ...MediaType, properties: { ...MediaType.properties, 'x-itemSchema': 'Schema' } },
    }),
  },
});
