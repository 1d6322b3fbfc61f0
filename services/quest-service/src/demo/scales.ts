/** A text in the three languages of the demo: en-US, de-DE, sv-SE. */
export type Texts = readonly [english: string, german: string, swedish: string];

/** Answers that several questions share, in order. */
export const scales = {
  none: [],
  yesNo: [
    ['Yes', 'Ja', 'Ja'],
    ['No', 'Nein', 'Nej'],
  ],
  agreement: [
    ['Strongly disagree', 'Stimme gar nicht zu', 'Instämmer inte alls'],
    ['Disagree', 'Stimme nicht zu', 'Instämmer inte'],
    ['Neither agree nor disagree', 'Teils, teils', 'Varken eller'],
    ['Agree', 'Stimme zu', 'Instämmer'],
    ['Strongly agree', 'Stimme voll zu', 'Instämmer helt'],
  ],
  frequency: [
    ['Never', 'Nie', 'Aldrig'],
    ['A few times a year', 'Einige Male im Jahr', 'Några gånger om året'],
    ['Every month', 'Jeden Monat', 'Varje månad'],
    ['Every week', 'Jede Woche', 'Varje vecka'],
    ['Almost every day', 'Fast täglich', 'Nästan varje dag'],
  ],
  satisfaction: [
    ['Very dissatisfied', 'Sehr unzufrieden', 'Mycket missnöjd'],
    ['Dissatisfied', 'Unzufrieden', 'Missnöjd'],
    ['Satisfied', 'Zufrieden', 'Nöjd'],
    ['Very satisfied', 'Sehr zufrieden', 'Mycket nöjd'],
  ],
  travel: [
    ['On foot', 'Zu Fuß', 'Till fots'],
    ['By bicycle', 'Mit dem Fahrrad', 'Med cykel'],
    ['By bus or train', 'Mit Bus oder Bahn', 'Med buss eller tåg'],
    ['By car', 'Mit dem Auto', 'Med bil'],
  ],
  terrain: [
    ['Forest', 'Wald', 'Skog'],
    ['Mountains', 'Gebirge', 'Fjäll'],
    ['Coast', 'Küste', 'Kust'],
    ['Farmland', 'Felder und Wiesen', 'Åkermark'],
  ],
  ages: [
    ['Under 18', 'Unter 18', 'Under 18'],
    ['18 to 34', '18 bis 34', '18 till 34'],
    ['35 to 54', '35 bis 54', '35 till 54'],
    ['55 to 74', '55 bis 74', '55 till 74'],
    ['75 or older', '75 oder älter', '75 eller äldre'],
  ],
} as const satisfies Record<string, readonly Texts[]>;

export type Scale = keyof typeof scales;
