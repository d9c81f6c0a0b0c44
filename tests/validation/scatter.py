"""A scatter plot of predicted over published on logarithmic axes, as SVG."""
import math

COLOURS = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#7f7f7f"]
SIDE, LEFT, TOP = 420, 60, 16


def scatter(points, x_title, y_title):
    """`points`: name -> [(x, y)], all positive. The line is equality, the band 10 % to either side."""
    values = [value for of in points.values() for pair in of for value in pair]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))

    def place(value):
        return SIDE * (math.log10(value) - low) / (high - low)

    def at(x, y):
        return f"{LEFT + place(x):.1f},{TOP + SIDE - place(y):.1f}"

    least, most = 10.0**low, 10.0**high
    parts = [f'<clipPath id="frame"><rect x="{LEFT}" y="{TOP}" width="{SIDE}" height="{SIDE}"/></clipPath>',
             f'<g clip-path="url(#frame)"><polygon fill="#eee" points="{at(least, 0.9 * least)} {at(most, 0.9 * most)} '
             f'{at(most, 1.1 * most)} {at(least, 1.1 * least)}"/>'
             f'<polyline stroke="#999" points="{at(least, least)} {at(most, most)}"/></g>',
             f'<rect x="{LEFT}" y="{TOP}" width="{SIDE}" height="{SIDE}" fill="none" stroke="#999"/>']
    for exponent in range(low, high + 1):
        tick = 10.0**exponent
        parts.append(f'<text x="{LEFT + place(tick):.1f}" y="{TOP + SIDE + 16}" text-anchor="middle">{tick:g}</text>'
                     f'<text x="{LEFT - 6}" y="{TOP + SIDE - place(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for number, (name, of) in enumerate(points.items()):
        colour = COLOURS[number % len(COLOURS)]
        dots = []
        for x, y in of:
            cx, cy = at(x, y).split(",")
            dots.append(f'<circle cx="{cx}" cy="{cy}" r="2.5"/>')
        row = TOP + 14 + 18 * number
        # Colors repeat as rings, so that each name has a mark of its own.
        style = f'fill="{colour}" fill-opacity="0.7"' if number < len(COLOURS) else f'fill="none" stroke="{colour}"'
        parts.append(f'<g {style}>{"".join(dots)}'
                     f'<circle cx="{LEFT + SIDE + 16}" cy="{row - 4}" r="4"/></g>'
                     f'<text x="{LEFT + SIDE + 26}" y="{row}">{name}</text>')
    parts.append(f'<text x="{LEFT + SIDE / 2}" y="{TOP + SIDE + 34}" text-anchor="middle">{x_title}</text>'
                 f'<text x="14" y="{TOP + SIDE / 2}" text-anchor="middle" '
                 f'transform="rotate(-90 14 {TOP + SIDE / 2})">{y_title}</text>')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + SIDE + 420} {TOP + SIDE + 44}" '
            f'font-family="sans-serif" font-size="12"><title>{y_title} over {x_title}</title>'
            '<rect width="100%" height="100%" fill="white"/>' + "".join(parts) + "</svg>\n")
