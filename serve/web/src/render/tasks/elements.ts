// Chemical elements as viewers show them: symbols, the colours that chemists know, and covalent radii in ångström (Cordero et al. 2008,
// Covalent radii revisited). Colours follow Corey, Pauling and Koltun with later additions.

const symbols = 'X H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe'.split(' ');

const known: Record<string, readonly [number, number, number, number]> = {
  H: [230, 230, 230, 0.31], C: [95, 95, 95, 0.76], N: [60, 90, 235, 0.71], O: [230, 40, 30, 0.66], F: [120, 200, 80, 0.57], P: [230, 130, 20, 1.07], S: [225, 195, 40, 1.05], Cl: [60, 190, 60, 1.02], Br: [150, 50, 40, 1.2], I: [120, 30, 140, 1.39], Si: [200, 170, 130, 1.11], B: [240, 170, 170, 0.84], Na: [150, 90, 220, 1.66], Fe: [200, 110, 60, 1.32],
};

/** The symbol of an atomic number; X with the number for those without. */
export const symbol = (z: number): string => symbols[z] ?? `X${z}`;

/** Red, green, blue and the covalent radius in ångström. */
export const looks = (z: number): readonly [number, number, number, number] => known[symbol(z)] ?? [200, 120, 180, 1.2];
